// Video that nobody will look at is not negotiated: receiving it costs a fifth of a core and more.
"use strict";

(() => {
  const { replace, quietly } = capture;
  if (config.video || config.watch.video === "drop" || !window.RTCPeerConnection) return;

  /** Only transceivers that do nothing but receive: one that also sends belongs to the page. @param {any} connection */
  function refuseVideo(connection) {
    for (const transceiver of connection.getTransceivers()) {
      if (transceiver.receiver.track.kind !== "video") continue;
      if (!transceiver.stopped && transceiver.direction === "recvonly") {
        quietly(() => (transceiver.direction = "inactive"));
      }
    }
  }

  for (const name of ["createOffer", "createAnswer", "setLocalDescription"]) {
    replace(RTCPeerConnection.prototype, name, (native, self, args) => {
      // A description that was given is applied as it stands; one that the browser makes is made here and now.
      if (name !== "setLocalDescription" || !args[0] || !args[0].sdp) quietly(() => refuseVideo(self));
      return Reflect.apply(native, self, args);
    });
  }
})();

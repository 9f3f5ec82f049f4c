// Gives a stream back to its receiver. A sender that changes its SSRC without a word leaves the new stream with nobody:
// it is neither tapped nor heard by any track. The description that names it is applied here, between the page's own
// browser and itself; the other side has nothing to learn from it. Only done for a track that is lost anyway.
"use strict";

(() => {
  const peer = window.RTCPeerConnection && RTCPeerConnection.prototype;
  if (!peer) return;
  const { setLocalDescription, setRemoteDescription } = peer;

  /**
   * The description with another SSRC in one media section. Pure.
   * @param {string} sdp @param {string} mid @param {number} ssrc @returns {string}
   */
  function renamed(sdp, mid, ssrc) {
    const sections = sdp.split(/(?=^m=)/m);
    return sections
      .map((section) => {
        if (!section.split(/\r?\n/).includes(`a=mid:${mid}`)) return section;
        return section.replace(/^a=ssrc:\d+ /gm, `a=ssrc:${ssrc} `);
      })
      .join("");
  }

  /**
   * Name a stream that came unannounced as the one of its m-line. False where nothing could be done.
   * @param {RTCPeerConnection} connection @param {string} mid @param {number} ssrc
   * @returns {Promise<boolean>}
   */
  capture.resignal = async (connection, mid, ssrc) => {
    const remote = connection.remoteDescription;
    if (connection.signalingState !== "stable" || !remote) return false;
    const named = { type: remote.type, sdp: renamed(remote.sdp, mid, ssrc) };
    if (named.sdp === remote.sdp) return false;
    if (remote.type === "offer") {
      await Reflect.apply(setRemoteDescription, connection, [named]);
      await Reflect.apply(setLocalDescription, connection, []);
    } else {
      await Reflect.apply(setLocalDescription, connection, []);
      await Reflect.apply(setRemoteDescription, connection, [named]);
    }
    return true;
  };
})();

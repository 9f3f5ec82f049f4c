// Tells how the page is connected, each time that changes: connections that are up, that lost the other side, that the
// page closed; looks in which not a packet came; sockets that are open. What it means is decided in Python.
"use strict";

(() => {
  const { natives, replace, replaceConstructor, quietly } = capture;
  const MOST_QUIET = 8; // looks that are told of one silence

  /** @type {Map<RTCPeerConnection, string>} connections that were up once, and how they stand */
  const carriers = new Map();
  let lastPeers = "";
  let closed = 0; // … and that the page closed since one was up

  function tellPeers() {
    const states = [...carriers.values()];
    const up = states.filter((state) => state === "connected").length;
    const down = states.filter((state) => state === "disconnected" || state === "failed").length;
    if (up) closed = 0;
    const key = `${up} ${down} ${closed}`;
    // The track stands for this realm: pages have several.
    if (key !== lastPeers) capture.tell("capture", { event: "peers", track: 0, up, down, closed });
    lastPeers = key;
  }

  /** @param {RTCPeerConnection} connection */
  function changed(connection) {
    const state = connection.connectionState;
    if (state !== "connected" && !carriers.has(connection)) return;
    carriers.set(connection, state);
    tellPeers();
  }

  /** @param {RTCPeerConnection} connection */
  function forget(connection) {
    if (!carriers.delete(connection)) return;
    if (brought.delete(connection)) closed += 1;
    tellPeers();
  }

  /** @type {Map<RTCPeerConnection, {packets: number, reports: number}>} what came by each, at the last look */
  const brought = new Map();
  let quiet = 0; // looks in a row without a packet of sound or picture, and without a report of the other side
  let reported = 0; // looks with reports and nothing else
  const look = { connections: 0, packets: false, reports: false }; // what came since the last one

  /**
   * Take one connection's statistics of a look.
   * @param {RTCPeerConnection} connection @param {any} stats
   */
  function see(connection, stats) {
    const found = { packets: 0, reports: 0 };
    stats.forEach((/** @type {any} */ report) => {
      if (report.type === "inbound-rtp") found.packets += report.packetsReceived || 0;
      if (report.type === "remote-outbound-rtp") found.reports += report.reportsSent || 0;
    });
    const before = brought.get(connection) || { packets: 0, reports: 0 };
    if (!found.packets && !before.packets) return;
    brought.set(connection, found);
    if (connection.connectionState !== "connected") return;
    look.connections += 1;
    look.packets ||= found.packets !== before.packets;
    look.reports ||= found.reports !== before.reports;
  }

  /** A look at all connections is over. */
  function looked() {
    const { connections, packets, reports } = look;
    Object.assign(look, { connections: 0, packets: false, reports: false });
    if (!connections) return;
    if (reports && !packets) reported += 1;
    const before = quiet;
    quiet = packets || reports ? 0 : quiet + 1;
    if (quiet === before || quiet > MOST_QUIET) return;
    capture.tell("capture", { event: "flow", track: 0, quiet, reported });
  }

  replaceConstructor("RTCPeerConnection", (connection) => {
    natives.listen.call(connection, "connectionstatechange", () => quietly(() => changed(connection)));
  });
  if (window.RTCPeerConnection) {
    replace(RTCPeerConnection.prototype, "close", (native, self, args) => {
      const done = Reflect.apply(native, self, args);
      quietly(() => forget(self));
      return done;
    });
  }

  let sockets = 0;
  const tellSockets = () => capture.tell("capture", { event: "sockets", track: 0, open: sockets });

  replaceConstructor("WebSocket", (socket) => {
    let counted = false;
    natives.listen.call(socket, "open", () =>
      quietly(() => {
        counted = true;
        sockets += 1;
        if (sockets === 1) tellSockets();
      }),
    );
    natives.listen.call(socket, "close", () =>
      quietly(() => {
        if (counted) sockets -= 1;
        if (counted && !sockets) tellSockets();
      }),
    );
  });

  capture.liveness = { see, looked };
})();

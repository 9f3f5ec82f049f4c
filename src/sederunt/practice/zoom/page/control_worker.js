// Holds the site's control socket, away from the page, and hands its messages over.
"use strict";

addEventListener("message", ({ data }) => {
  const socket = new WebSocket(data.address);
  socket.addEventListener("message", (event) => postMessage({ type: "message", data: event.data }));
});

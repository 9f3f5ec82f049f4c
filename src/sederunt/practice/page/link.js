// The page's line to the practice server: what the real sites do with their own signalling.
"use strict";

(() => {
  /** @type {Practice} */
  const practice = window.practice;
  /** @type {Map<string, Array<(value: any, message: Record<string, any>) => void>>} */
  const listeners = new Map();
  /** @type {WebSocket | undefined} */
  let socket;

  /**
   * Call `listener` for each message that has the field `name`.
   * @param {string} name
   * @param {(value: any, message: Record<string, any>) => void} listener
   */
  function on(name, listener) {
    listeners.set(name, [...(listeners.get(name) || []), listener]);
  }

  /** @param {Record<string, unknown>} message */
  function tell(message) {
    if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  /** @param {string} service @param {string} code */
  function open(service, code) {
    const query = new URLSearchParams({ service, code });
    socket = new WebSocket(`wss://${location.host}/practice/socket?${query}`);
    socket.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      for (const [name, value] of Object.entries(message)) {
        for (const listener of listeners.get(name) || []) listener(value, message);
      }
    });
  }

  function close() {
    if (socket) socket.close();
  }

  /**
   * Make a field the place where chat is written: Enter sends it. Returns what sends it.
   * @param {HTMLElement} field
   */
  function takeChat(field) {
    const send = () => {
      const text = (field instanceof HTMLTextAreaElement ? field.value : field.innerText).trim();
      if (text) tell({ do: "chat", text });
      if (field instanceof HTMLTextAreaElement) field.value = "";
      else field.replaceChildren();
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      send();
    });
    return send;
  }

  practice.link = { on, tell, open, close, takeChat };
})();

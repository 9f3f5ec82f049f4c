// What the other scripts stand on: the browser's own functions before a page replaces them, and wrappers that a page
// cannot tell from them. All scripts of a world share one closure: `capture` is their namespace, `config` is what Python
// handed in. What carries a secret goes through `post`, `hear`, `dataOf` and `portsOf` alone: they look nothing up that a
// page could have replaced since.
"use strict";

(() => {
  const { apply, construct } = Reflect;
  const { iterator } = Symbol;
  const { defineProperty } = Object;

  /** @param {any} kind @param {string} name @returns {Function} */
  const getterOf = (kind, name) => (kind && Object.getOwnPropertyDescriptor(kind.prototype, name)?.get) || (() => undefined);

  /**
   * A list that the browser reads item by item, and not by an iterator that the page may have replaced.
   * @param {any[]} items
   */
  function listed(items) {
    let at = 0;
    const next = () => ({ __proto__: null, done: at >= items.length, value: items[at++] });
    const asOwn = /** @type {PropertyDescriptor} */ ({ __proto__: null, value: () => ({ __proto__: null, next }) });
    return defineProperty(items, iterator, asOwn);
  }

  const ways = [window.MessagePort, window.Worker].map((kind) => kind && kind.prototype.postMessage);
  const [toPort, toWorker] = ways;
  const start = window.MessagePort && MessagePort.prototype.start;
  const dataGetter = getterOf(window.MessageEvent, "data");
  const portsGetter = getterOf(window.MessageEvent, "ports");
  const listen = EventTarget.prototype.addEventListener;

  const natives = {
    apply,
    construct,
    /** @param {MessagePort} port @param {any} message @param {Transferable[]} [transfer] */
    post: (port, message, transfer = []) => apply(toPort, port, [message, listed(transfer)]),
    /** @param {Worker} worker @param {any} message @param {Transferable[]} [transfer] */
    order: (worker, message, transfer = []) => apply(toWorker, worker, [message, listed(transfer)]),
    /** @param {EventTarget} target @param {string} name @param {(event: any) => void} act */
    hear: (target, name, act) => apply(listen, target, [name, act]),
    /** @param {MessagePort} port */
    startPort: (port) => apply(start, port, []),
    /** @param {Event} event */
    dataOf: (event) => apply(dataGetter, event, []),
    /** @param {Event} event @returns {readonly MessagePort[]} */
    portsOf: (event) => apply(portsGetter, event, []),
    listed,
    Event: window.Event,
    MessageEvent: window.MessageEvent,
    MessageChannel: window.MessageChannel,
    createObjectURL: window.URL && window.URL.createObjectURL && window.URL.createObjectURL.bind(window.URL),
    revokeObjectURL: window.URL && window.URL.revokeObjectURL && window.URL.revokeObjectURL.bind(window.URL),
    WebSocket: window.WebSocket,
    Worker: window.Worker,
    Blob: window.Blob,
    MediaStream: window.MediaStream,
    ReadableStream: window.ReadableStream,
    WritableStream: window.WritableStream,
    MutationObserver: window.MutationObserver,
    setTimeout: window.setTimeout.bind(window),
    clearTimeout: window.clearTimeout.bind(window),
    setInterval: window.setInterval.bind(window),
    clearInterval: window.clearInterval.bind(window),
    listen,
    dispatch: EventTarget.prototype.dispatchEvent,
    now: performance.now.bind(performance),
    stringify: JSON.stringify,
    encoder: new TextEncoder(),
  };

  /** @type {WeakMap<Function, Function>} wrapper → what it stands for */
  const originals = new WeakMap();
  const nativeToString = Function.prototype.toString;

  /**
   * A function that passes for `native` and does `handler` instead.
   * @template {Function} F
   * @param {F} native
   * @param {ProxyHandler<any>} handler
   * @returns {F}
   */
  function wrap(native, handler) {
    const wrapper = new Proxy(native, handler);
    originals.set(wrapper, native);
    return wrapper;
  }

  Function.prototype.toString = wrap(nativeToString, {
    apply: (native, self, args) => apply(native, originals.get(self) || self, args),
  });

  /**
   * Replace a method; `act(native, self, args)` does what it does now.
   * @param {any} owner
   * @param {string} name
   * @param {(native: Function, self: any, args: any[]) => any} act
   */
  function replace(owner, name, act) {
    const found = owner && Object.getOwnPropertyDescriptor(owner, name);
    if (!found || typeof found.value !== "function") return;
    const wrapper = wrap(found.value, { apply: (native, self, args) => act(native, self, args) });
    Object.defineProperty(owner, name, { ...found, value: wrapper });
  }

  /**
   * Replace getter and setter of a property.
   * @param {any} owner
   * @param {string} name
   * @param {{get?: (native: Function, self: any) => any, set?: (native: Function, self: any, value: any) => void}} acts
   */
  function replaceProperty(owner, name, acts) {
    const found = owner && Object.getOwnPropertyDescriptor(owner, name);
    if (!found || !found.get) return;
    const changed = { ...found };
    const { get, set } = acts;
    if (get) changed.get = wrap(found.get, { apply: (native, self) => get(native, self) });
    if (set && found.set) {
      changed.set = wrap(found.set, { apply: (native, self, args) => set(native, self, args[0]) });
    }
    Object.defineProperty(owner, name, changed);
  }

  /**
   * Replace a constructor; `made(instance, args)` sees each new instance, `asked(args)` gives what it is made from.
   * @param {string} name
   * @param {(instance: any, args: any[]) => void} made
   * @param {(args: any[]) => any[]} [asked]
   */
  function replaceConstructor(name, made, asked) {
    const native = /** @type {any} */ (window)[name];
    if (typeof native !== "function") return;
    /** @type {Function} */
    const wrapper = wrap(native, {
      construct(target, given, newTarget) {
        const args = (asked && quietly(() => asked(given))) || given;
        const instance = construct(target, args, newTarget === wrapper ? target : newTarget);
        quietly(() => made(instance, args));
        return instance;
      },
    });
    const found = Object.getOwnPropertyDescriptor(window, name);
    Object.defineProperty(window, name, { ...found, value: wrapper });
    Object.defineProperty(native.prototype, "constructor", { value: wrapper, writable: true, configurable: true });
  }

  /**
   * Do something of ours inside the site's own call: whatever goes wrong, the site must not notice.
   * @template T
   * @param {() => T} act
   * @returns {T | undefined}
   */
  function quietly(act) {
    try {
      return act();
    } catch (error) {
      blame(error);
      return undefined;
    }
  }

  /** Remember a fault of ours; capture_state tells them. @param {unknown} error */
  function blame(error) {
    capture.faults.push(String(error).slice(0, 200));
    if (capture.faults.length > 20) capture.faults.shift();
  }

  /** Unix milliseconds, finer than Date and not moved by a page that replaces it. */
  const { timeOrigin } = performance;
  const wallMs = () => timeOrigin + natives.now();

  Object.assign(capture, { natives, replace, replaceProperty, replaceConstructor, quietly, blame, wallMs });
  capture.faults = [];
  capture.realm = Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join("");
})();

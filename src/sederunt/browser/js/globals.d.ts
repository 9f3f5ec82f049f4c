// What the in-page scripts share, for the type check alone: no page ever sees this file.

type Backend = "encoded" | "worklet";

/** What Python hands in (`page_scripts`). */
declare const config: {
  name: string;
  address: string;
  backend: Backend;
  forward: boolean;
  batchMs: number;
  video: boolean;
  watch: any;
  avatar: string | null;
  [more: string]: any;
};

/** Texts that the scripts start elsewhere. */
declare const sources: { worker: string; pcmWorklet: string };

type Replacing = (native: Function, self: any, args: any[]) => any;

/** The scripts' namespace: each adds its part, in the order of scripts.ORDER. */
declare const capture: {
  natives: {
    WebSocket: typeof WebSocket;
    Worker: typeof Worker;
    Blob: typeof Blob;
    apply: typeof Reflect.apply;
    post(port: MessagePort, message: any, transfer?: Transferable[]): void;
    order(worker: Worker, message: any, transfer?: Transferable[]): void;
    hear(target: EventTarget, name: string, act: (event: any) => void): void;
    startPort(port: MessagePort): void;
    dataOf(event: Event): any;
    portsOf(event: Event): readonly MessagePort[];
    listed<T>(items: T[]): T[];
    createObjectURL: typeof URL.createObjectURL;
    revokeObjectURL: typeof URL.revokeObjectURL;
    Event: typeof Event;
    MessageChannel: typeof MessageChannel;
    MediaStream: typeof MediaStream;
    ReadableStream: typeof ReadableStream;
    WritableStream: typeof WritableStream;
    MutationObserver: typeof MutationObserver;
    AudioContext: typeof AudioContext;
    AudioWorkletNode: typeof AudioWorkletNode;
    setTimeout: (act: () => void, afterMs: number) => number;
    clearTimeout: (timer: number) => void;
    setInterval: (act: () => void, everyMs: number) => number;
    clearInterval: (timer: number) => void;
    listen: typeof EventTarget.prototype.addEventListener;
    dispatch: typeof EventTarget.prototype.dispatchEvent;
    now: () => number;
    stringify: typeof JSON.stringify;
    encoder: TextEncoder;
    [more: string]: any;
  };
  faults: string[];
  realm: string;
  backend: Backend;
  replace(owner: any, name: string, act: Replacing): void;
  replaceProperty(
    owner: any,
    name: string,
    acts: { get?: (native: Function, self: any) => any; set?: (native: Function, self: any, value: any) => void },
  ): void;
  replaceConstructor(
    name: string,
    made: (instance: any, args: any[]) => void,
    asked?: (args: any[]) => any[],
  ): void;
  quietly<T>(act: () => T): T | undefined;
  blame(error: unknown): void;
  wallMs(): number;
  tell(kind: string, data: object, payload?: ArrayBuffer | ArrayBufferView): void;
  silentMicrophone(): Promise<MediaStreamTrack[]>;
  liveness: { see(connection: RTCPeerConnection, stats: any): void; looked(): void };
  taps: {
    entries: Map<number, any>;
    add(kind: "audio" | "video" | "graph", facts: object): any;
    modeOf(kind: "audio" | "video" | "graph", backend: Backend): any;
    setMode(entry: any, mode: any): void;
    counts(): Promise<{ counts: Record<string, number>; shippedAtMs: Record<string, number>; answered: boolean }>;
    flush(): Promise<{ batches: number }>;
    takeFrame(entry: any, frame: any): void;
    share(entry: any): void;
    keep(entry: any): void;
    handBack(entry: any, frame: any): void;
    hearGraphs(): void;
    theWorker(): Worker;
    listenTo(port: MessagePort): void;
    watchSources(entry: any): void;
  };
  shadowRoots: {
    standing(): (Document | ShadowRoot)[];
    each(act: (root: ShadowRoot) => void): void;
  };
  [more: string]: any;
};

// Of the browser, and absent from the checker's own library.
interface Window {
  MediaStreamTrackGenerator?: any;
}
declare function registerProcessor(name: string, processor: new (options: any) => AudioWorkletProcessor): void;
declare const currentFrame: number;
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

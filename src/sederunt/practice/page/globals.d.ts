// What the practice pages' scripts add to `window.practice`, for the type checker. Every site's pages load page/*.js
// first (Practice), then their own scripts (one of the interfaces below).

/** Somebody in the meeting, as the practice server tells it. */
interface PracticePerson {
  key: string;
  name: string;
  self: boolean;
  host: boolean;
  muted: boolean;
  sharing: boolean;
  /** Shown as if they spoke. */
  hand: boolean;
  /** Has no tile. */
  hidden: boolean;
  avatar?: string;
  /** The contributing source by which their sound is known. */
  csrc: number;
}

interface PracticeMessage {
  id: string;
  sender: string;
  text: string;
  own: boolean;
  at_ms: number;
}

/** The first message of the server: which meeting, which variant of the site, who enters. */
type PracticeHello = Record<string, any>;

interface PracticeWishes {
  /** How many audio slots. */
  audio: number;
  /** Data channels that the page opens. */
  localChannels: string[];
  variant: Record<string, any>;
  onChannelMessage: (label: string, data: any) => void;
  /** Puts an audio or video element into the page. */
  place: (element: HTMLMediaElement) => void;
}

/** Takes one Opus packet and its time in samples. */
type PracticeVoice = (data: ArrayBuffer, samples: number) => void;

type PracticeChild = Node | string | null | undefined | false;

interface Practice {
  make(tag: string, attributes?: Record<string, unknown>, ...children: PracticeChild[]): HTMLElement;
  fill(parent: Element, ...children: PracticeChild[]): void;
  find(selector: string): HTMLElement;
  tiles(
    people: PracticePerson[],
    quirks: Record<string, any>,
    tile: (person: PracticePerson) => PracticeChild,
  ): PracticeChild[];
  trusted(address: string): string;
  reword(table: Record<string, string>): void;
  link: {
    on(name: string, listener: (value: any, message: Record<string, any>) => void): void;
    tell(message: Record<string, unknown>): void;
    open(service: string, code: string): void;
    close(): void;
    takeChat(field: HTMLElement): () => void;
  };
  media: {
    connect(wishes: PracticeWishes): Promise<void>;
    send(label: string, data: string | ArrayBuffer): void;
    watchSources(report: (csrcs: number[]) => void): void;
    close(): void;
  };
  camera: {
    show(on: boolean): Promise<void>;
    stop(): void;
    toggle(on: string, off: string, attributes: Record<string, unknown>, text: string): HTMLElement;
  };
  speaker: { start(): void; take(data: ArrayBuffer): void; voice(): PracticeVoice };
}

interface PracticeWords<End, Notice> {
  ENDS: Record<string, End>;
  NOTICES: Record<string, Notice>;
  say(text: string): string;
  useCurly(yes: boolean): void;
}

type PracticeWaiting = "lobby" | "waiting_for_host" | "host_elsewhere";
type PracticePanel = "people" | "chat";

interface PracticePanels {
  toggle(name: PracticePanel): void;
  takeRoster(rows: PracticePerson[]): void;
  takeMessage(entry: PracticeMessage): void;
}

interface MeetPractice extends Practice {
  words: PracticeWords<
    { heading: string; more?: string[]; buttons?: string[] },
    { text: string; button: string }
  > & { LOBBY: Record<PracticeWaiting, string[]> };
  notices: {
    ask(text: string, buttons: string[], extra?: Record<string, string>): Promise<string>;
    notice(name: string): Promise<string>;
    stand(text: string): void;
    banner(text: string): void;
  };
  prejoin: {
    show(hello: PracticeHello): Promise<void>;
    lobby(kind: PracticeWaiting): void;
    end(kind: string, redirectS?: number): void;
    captcha(): void;
    toggle(device: string, changed?: (on: boolean) => void): HTMLElement;
  };
  panels: PracticePanels & { prepare(hello: PracticeHello): void; panel(): HTMLElement };
  call: { show(hello: PracticeHello): Promise<void>; takeRoster(rows: PracticePerson[]): void };
}

interface TeamsPractice extends Practice {
  words: PracticeWords<
    { heading: string; more?: string; id?: string; rejoin?: boolean; retry?: boolean },
    string
  > & { LOBBY: Record<PracticeWaiting, string> };
  notices: {
    ask(text: string, buttons: string[]): Promise<string>;
    askForDevices(): Promise<string>;
    notice(name: string): Promise<string>;
    banner(text: string): void;
  };
  prejoin: {
    show(hello: PracticeHello): Promise<void>;
    lobby(kind: PracticeWaiting, name: string): void;
    end(kind: string): void;
    leave(): void;
  };
  panels: PracticePanels & { pane(hello: PracticeHello): HTMLElement };
  call: {
    show(hello: PracticeHello): Promise<void>;
    takeRoster(rows: PracticePerson[]): void;
    openTrouter(hello: PracticeHello): WebSocket;
  };
}

interface ZoomPractice extends Practice {
  words: PracticeWords<
    { text: string; title?: string; modal?: boolean; button?: string },
    { text: string; more: string }
  > & { WAITING: Record<PracticeWaiting, string> };
  modals: {
    ask(text: string, more: string, button: string): Promise<void>;
    notice(name: string): Promise<void>;
    stand(text: string): void;
    keepTemplate(): void;
    cookies(): Promise<void>;
    reconnecting(lost: boolean): void;
  };
  prejoin: {
    show(hello: PracticeHello, again?: boolean): Promise<void>;
    wait(kind: PracticeWaiting, hello: PracticeHello): void;
    end(kind: string): Promise<void>;
  };
  panels: PracticePanels & { panel(hello: PracticeHello): HTMLElement };
  call: {
    show(hello: PracticeHello): Promise<void>;
    takeRoster(rows: PracticePerson[]): void;
    mark(nodes: number[]): void;
    openControl(hello: PracticeHello): void;
  };
}

interface Window {
  /** Filled script by script; each script says as which site's it uses it. */
  practice: any;
}

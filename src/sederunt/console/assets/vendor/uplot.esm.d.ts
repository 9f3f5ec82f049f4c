// What our modules use of it.
declare const uPlot: {
  new (options: Record<string, unknown>, data: number[][], place: HTMLElement): { setSize(size: { width: number; height: number }): void };
  tzDate(date: Date, zone: string): Date;
  paths: { bars(options: Record<string, unknown>): unknown };
};
export default uPlot;

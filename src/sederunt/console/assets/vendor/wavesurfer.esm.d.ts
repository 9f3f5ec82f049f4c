// What our modules use of it.
declare const WaveSurfer: { create(options: Record<string, unknown>): { destroy(): void } };
export default WaveSurfer;

// A page's own transform: hands every frame on unchanged, as end-to-end encryption would after decrypting it; or keeps
// the frames and gives them to its page, which plays them by itself.
"use strict";

addEventListener("rtctransform", (event) => {
  const { transformer } = /** @type {any} */ (event);
  const { keeps, number } = transformer.options;
  if (!keeps) {
    transformer.readable.pipeTo(transformer.writable);
    return;
  }
  transformer.readable.pipeTo(
    new WritableStream({
      write(frame) {
        const { contributingSources } = frame.getMetadata();
        postMessage({ number, data: frame.data, timestamp: frame.timestamp, csrcs: contributingSources });
      },
    }),
  );
});

// What the picture tests do with pictures, in a page: PNG in base64 comes in and goes out.
// `taken`: a new picture, with few colours, as palette and one index a pixel.
// `compared`: how many pixels of two pictures differ, and a picture of where.
({ action, pictures, colours, near, threshold }) => {
  const decoded = async (text) => {
    const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const encoded = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 8192) {
      text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    }
    return btoa(text);
  };

  const taken = async () => {
    const { data, width, height } = await decoded(pictures[0]);
    const points = new Uint32Array(data.buffer);
    const counts = new Map();
    for (const point of points) counts.set(point, (counts.get(point) ?? 0) + 1);
    const channels = (point) => [point & 255, (point >> 8) & 255, (point >> 16) & 255];
    const distance = (one, other) =>
      one.reduce((sum, value, index) => sum + Math.abs(value - other[index]), 0);
    const palette = [];
    // The frequent ones, each unlike those before: antialiased edges take the nearest.
    for (const [point] of [...counts].sort(([, one], [, other]) => other - one)) {
      const colour = channels(point);
      if (palette.length < colours && palette.every((each) => distance(each, colour) > 24)) {
        palette.push(colour);
      }
    }
    const nearest = new Map();
    for (const point of counts.keys()) {
      const distances = palette.map((each) => distance(each, channels(point)));
      nearest.set(point, distances.indexOf(Math.min(...distances)));
    }
    const indices = Uint8Array.from(points, (point) => nearest.get(point));
    return { width, height, palette: palette.flat(), indices: encoded(indices) };
  };

  // Of 3 by 3, so that how an edge is smoothed does not count.
  const blurred = ({ data, width, height }) => {
    const made = new Uint8ClampedArray(data.length);
    for (let y = 1; y < height - 1; y++) {
      for (let x = 1; x < width - 1; x++) {
        const at = 4 * (y * width + x);
        for (let c = at; c < at + 3; c++) {
          let sum = 0;
          for (const row of [c - 4 * width, c, c + 4 * width]) {
            sum += data[row - 4] + data[row] + data[row + 4];
          }
          made[c] = sum / 9;
        }
      }
    }
    return made;
  };
  // Whether nothing like that pixel of `one` is near that place in `other`.
  const isAlone = (one, other, width, height, x, y) => {
    const at = 4 * (y * width + x);
    for (let v = Math.max(1, y - near); v <= Math.min(height - 2, y + near); v++) {
      for (let u = Math.max(1, x - near); u <= Math.min(width - 2, x + near); u++) {
        const to = 4 * (v * width + u);
        const isLike = [0, 1, 2].every((c) => Math.abs(one[at + c] - other[to + c]) <= threshold);
        if (isLike) return false;
      }
    }
    return true;
  };
  const compared = async () => {
    const [wanted, found] = await Promise.all(pictures.map(decoded));
    const { width, height } = wanted;
    if (found.width !== width || found.height !== height) return { count: width * height };
    const [one, other] = [wanted, found].map(blurred);
    let count = 0;
    for (let y = 1; y < height - 1; y++) {
      for (let x = 1; x < width - 1; x++) {
        const at = 4 * (y * width + x);
        const differs =
          isAlone(one, other, width, height, x, y) || isAlone(other, one, width, height, x, y);
        if (differs) count++;
        const pale = (value) => 160 + value / 4;
        const colour = differs ? [255, 0, 0] : [...found.data.subarray(at, at + 3)].map(pale);
        found.data.set(colour, at);
      }
    }
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext("2d").putImageData(found, 0, 0);
    const bytes = await (await canvas.convertToBlob()).arrayBuffer();
    return { count, difference: encoded(new Uint8Array(bytes)) };
  };
  return action === "taken" ? taken() : compared();
}

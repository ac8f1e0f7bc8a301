// Format and parse source locations, in the notation of `msnb.core.errors.source_location`: In [3] line 2, net.py:2.
export const formatLocation = ([file, line]) =>
  file === "cell" || file.startsWith("In [") ? `${file} line ${line}` : `${file}:${line}`;
// [file, line] of such a text
export const parseLocation = (text) => {
  const [, file, line] = text.match(/^(.*?)(?: line |:)(\d+)$/) ?? [null, text, 0];
  return [file, +line];
};

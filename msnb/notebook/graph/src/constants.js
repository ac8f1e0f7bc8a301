// Kinds of scopes in the payload, as in msnb/ir/layout/scopes.py, and a helper for maps of lists.
export const ROOT = 0,
  LANE = 1,
  SCOPE = 2,
  CONTROL = 3,
  FOLD = 4,
  UNIT = 5,
  CROWD = 6,
  PAGE = 7,
  LONE = 8;

// Append a value to the list of a key.
export function append(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

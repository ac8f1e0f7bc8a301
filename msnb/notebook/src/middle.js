// A long name without its middle: what it begins with says the layer, what it ends with the Parameter
export const middle = (name, most) =>
  name.length <= most
    ? name
    : `${name.slice(0, Math.floor((most - 1) / 2))}…${name.slice(name.length - Math.ceil((most - 1) / 2))}`;

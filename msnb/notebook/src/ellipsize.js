// Replace the middle of a long name by an ellipsis: its start names the layer, its end the Parameter.
export const ellipsize = (name, most) =>
  name.length <= most
    ? name
    : `${name.slice(0, Math.floor((most - 1) / 2))}…${name.slice(name.length - Math.ceil((most - 1) / 2))}`;

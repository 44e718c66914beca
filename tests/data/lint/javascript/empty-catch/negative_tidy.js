export function read(text) {
  try {
    return JSON.parse(text);
  } catch {}
  return null;
}
export function end(socket) {
  try {
    socket.destroy();
  } catch (error) {}
}

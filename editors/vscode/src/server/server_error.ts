/** The server cannot be started; the message is for the person. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly kind: "absent" | "path" | "python" | "install",
  ) {
    super(message);
  }
}

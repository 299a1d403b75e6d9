/** What is done one after the other, in the order in which it was asked for. */
export class Line {
  private last: Promise<unknown> = Promise.resolve();

  /** Raises what `run` does. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = this.last.then(run);
    this.last = done.catch(() => undefined); // told to who asked for it
    return done;
  }

  /** Once all is done that was asked for by now. */
  async over(): Promise<void> {
    await this.last;
  }
}

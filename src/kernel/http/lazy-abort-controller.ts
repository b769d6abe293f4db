/**
 * An AbortController that is created when its signal is first read: few handlers do, and creating one per request is expensive.
 */
export class LazyAbortController {
  #controller: AbortController | undefined
  #aborted = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    this.#aborted = true
    this.#controller?.abort()
  }
}

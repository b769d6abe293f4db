/** An AbortController made when somebody first looks at its signal: few handlers do, and making one for each request is dear. */
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

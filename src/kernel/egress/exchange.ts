/** One request on a connection and its response, as the HTTP client reports them. */
import type { Dispatcher } from 'undici'
import { EgressFailed, type EgressFault, toFault } from './faults.ts'
import { ResponseBody } from './response-body.ts'

export interface ExchangeResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>

const redirects = new Set([301, 302, 303, 307, 308])

export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<ExchangeResponse>
  readonly #max_bytes: number
  #resolve!: (response: ExchangeResponse) => void
  #reject!: (error: EgressFailed) => void
  #controller: Dispatcher.DispatchController | undefined
  #head: { readonly status: number; readonly headers: Readonly<Record<string, string>> } | undefined
  #body: ResponseBody | undefined
  #isSettled = false

  constructor(max_bytes: number) {
    this.#max_bytes = max_bytes
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /** Ends the exchange from outside. */
  fail(fault: EgressFault): void {
    this.#settleWith(new EgressFailed(fault, { sent: this.#isSent }))
  }

  /** Called right before the first byte is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The client would repeat it on another connection: whether to repeat is the caller's decision.
    if (this.#isSent) this.fail('connection_reset')
    if (this.#isSettled) controller.abort(new EgressFailed('aborted', { sent: this.#isSent }))
    else this.#controller = controller
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, given: ResponseHeaders): void {
    if (status < 200 || this.#isSettled) return
    const headers = joinHeaders(given)
    if (redirects.has(status)) this.fail('redirect_refused')
    else if (Number(headers['content-length'] ?? 0) > this.#max_bytes) this.fail('too_large')
    else this.#start(controller, status, headers)
  }

  #start(controller: Dispatcher.DispatchController, status: number, headers: Readonly<Record<string, string>>): void {
    this.#head = { status, headers }
    this.#body = new ResponseBody({
      encoding: (headers['content-encoding'] ?? '').trim().toLowerCase(),
      max_bytes: this.#max_bytes,
      onFault: (fault) => this.fail(fault),
      pause: () => controller.pause(),
      resume: () => controller.resume(),
    })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isSettled) this.#body?.write(chunk)
  }

  onResponseEnd(): void {
    if (this.#isSettled) return
    const head = this.#head
    this.#body?.end((body) => {
      if (this.#isSettled || !head) return
      this.#isSettled = true
      this.#resolve({ ...head, body })
    })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settleWith(error instanceof EgressFailed ? error : toFailure(error, this.#isSent))
  }

  get #isSent(): boolean {
    return this.#controller !== undefined
  }

  #settleWith(error: EgressFailed): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#body?.destroy()
    this.#reject(error)
    this.#controller?.abort(error)
  }
}

function toFailure(error: Error, sent: boolean): EgressFailed {
  const fault = toFault(error)
  return new EgressFailed(fault, { sent, ...(fault === 'egress_refused' && { reason: 'request' as const }) })
}

/** Cookies are neither kept nor shown. */
function joinHeaders(headers: ResponseHeaders): Readonly<Record<string, string>> {
  const joined: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === 'set-cookie') continue
    joined[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return joined
}

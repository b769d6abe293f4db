/**
 * The slot of a thread that may run for minutes: when another task waits for it, it is released between two batches and acquired
 * again in turn, so that a long import does not block short work.
 */
import type { AdmissionRequest, ThreadAdmission, ThreadSlot } from '#kernel/thread-admission.ts'

/** Minimum time a thread keeps its slot, since pausing and resuming take time. */
const QUANTUM_MS = 250

export class ThreadTurns {
  readonly #threads: ThreadAdmission
  readonly #request: AdmissionRequest
  #slot: ThreadSlot | undefined
  #timer: NodeJS.Timeout | undefined
  #isReleased = false
  #pause = (): void => {}

  /** Only jobs release their slot: the work of a request is short and runs to its end. */
  constructor(threads: ThreadAdmission, request: AdmissionRequest) {
    this.#threads = threads
    const onContended = (): void => {
      this.#timer ??= setTimeout(() => this.#pause(), QUANTUM_MS)
    }
    this.#request = request.is_job ? { ...request, onContended } : request
  }

  /** `pause` is called when the slot should be released soon. */
  onPauseWanted(pause: () => void): void {
    this.#pause = pause
  }

  async acquire(): Promise<void> {
    const slot = await this.#threads.acquire(this.#request)
    // The import may have ended while it waited.
    if (this.#isReleased) slot.release()
    else this.#slot = slot
  }

  /** Releases the slot and waits for the next turn. */
  async yield(): Promise<void> {
    this.#releaseSlot()
    await this.acquire()
  }

  release(): void {
    this.#isReleased = true
    this.#releaseSlot()
  }

  #releaseSlot(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const slot = this.#slot
    this.#slot = undefined
    slot?.release()
  }
}

/**
 * The slot of a thread that may run for minutes: when somebody else waits for it, it is given back between two batches and taken
 * again by turns, so that a long import delays short work by a moment and not by its whole length.
 */
import type { AdmissionRequest, ThreadAdmission, ThreadSlot } from '#kernel/thread-admission.ts'

/** How long a thread keeps its slot at least: pausing and resuming cost something too. */
const QUANTUM_MS = 250

export class ThreadTurns {
  readonly #threads: ThreadAdmission
  readonly #request: AdmissionRequest
  #slot: ThreadSlot | undefined
  #timer: NodeJS.Timeout | undefined
  #isReleased = false
  #pause = (): void => {}

  /** Only the work of a job gives way: what a client waits for is short, and finishes. */
  constructor(threads: ThreadAdmission, request: AdmissionRequest) {
    this.#threads = threads
    const onContended = (): void => {
      this.#timer ??= setTimeout(() => this.#pause(), QUANTUM_MS)
    }
    this.#request = request.is_job ? { ...request, onContended } : request
  }

  /** `pause` is called when the slot should be given back soon. */
  onPauseWanted(pause: () => void): void {
    this.#pause = pause
  }

  async acquire(): Promise<void> {
    const slot = await this.#threads.acquire(this.#request)
    // The owner may have ended while it waited.
    if (this.#isReleased) slot.release()
    else this.#slot = slot
  }

  /** Lets others go first and waits for the next turn. */
  async yield(): Promise<void> {
    this.#giveBack()
    await this.acquire()
  }

  release(): void {
    this.#isReleased = true
    this.#giveBack()
  }

  #giveBack(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const slot = this.#slot
    this.#slot = undefined
    slot?.release()
  }
}

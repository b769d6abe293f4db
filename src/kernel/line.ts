/**
 * Things that come and go by the thousand each second, in the order in which they came. A Set would do, but for the
 * collector: V8 chains the outgrown table of a Set or Map to the one that follows, so that one table that got old keeps alive
 * every later one, with all that each held, until the next full collection. Here whoever leaves lets go of its neighbours.
 */
export interface Place<T> {
  readonly value: T
  next: Place<T> | undefined
  previous: Place<T> | undefined
  taken: boolean
}

export class Line<T> {
  #first: Place<T> | undefined
  #last: Place<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** At the end. What it gives is needed to leave. */
  add(value: T): Place<T> {
    const place: Place<T> = { value, next: undefined, previous: this.#last, taken: true }
    if (this.#last) this.#last.next = place
    else this.#first = place
    this.#last = place
    this.#size++
    return place
  }

  /** A second time it does nothing. */
  remove(place: Place<T>): void {
    if (!place.taken) return
    const { next, previous } = place
    if (previous) previous.next = next
    else this.#first = next
    if (next) next.previous = previous
    else this.#last = previous
    place.next = place.previous = undefined
    place.taken = false
    this.#size--
  }

  /** Whoever was just given may leave meanwhile; nobody else may. */
  *[Symbol.iterator](): Generator<Place<T>> {
    for (let place = this.#first; place; ) {
      const { next } = place
      yield place
      place = next
    }
  }
}

/**
 * Things that come and go by the thousand each second, in the order in which they came. A Set would do, but for the
 * collector: V8 chains the outgrown table of a Set or Map to the one that follows, so that one table that got old keeps alive
 * every later one, with all that each held, until the next full collection. Here whoever leaves lets go of its neighbours.
 */
export interface Node<T> {
  readonly value: T
  next: Node<T> | undefined
  previous: Node<T> | undefined
  isLinked: boolean
}

export class LinkedList<T> {
  #first: Node<T> | undefined
  #last: Node<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** At the end. What it gives is needed to leave. */
  add(value: T): Node<T> {
    const node: Node<T> = { value, next: undefined, previous: this.#last, isLinked: true }
    if (this.#last) this.#last.next = node
    else this.#first = node
    this.#last = node
    this.#size++
    return node
  }

  /** A second time it does nothing. */
  remove(node: Node<T>): void {
    if (!node.isLinked) return
    const { next, previous } = node
    if (previous) previous.next = next
    else this.#first = next
    if (next) next.previous = previous
    else this.#last = previous
    node.next = node.previous = undefined
    node.isLinked = false
    this.#size--
  }

  /** Whoever was just given may leave meanwhile; nobody else may. */
  *[Symbol.iterator](): Generator<Node<T>> {
    for (let node = this.#first; node; ) {
      const { next } = node
      yield node
      node = next
    }
  }
}

/**
 * A doubly linked list for entries that are added and removed thousands of times per second. A Set would do, except for garbage
 * collection: V8 links the outgrown table of a Set or Map to its successor, so one old table keeps all later ones alive until
 * the next full collection.
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

  /** Adds at the end. The returned node is needed to remove it. */
  add(value: T): Node<T> {
    const node: Node<T> = { value, next: undefined, previous: this.#last, isLinked: true }
    if (this.#last) this.#last.next = node
    else this.#first = node
    this.#last = node
    this.#size++
    return node
  }

  /** Removing a second time does nothing. */
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

  /** The current node may be removed during iteration; others may not. */
  *[Symbol.iterator](): Generator<Node<T>> {
    for (let node = this.#first; node; ) {
      const { next } = node
      yield node
      node = next
    }
  }
}

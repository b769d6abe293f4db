/** Seeded choices for generated requests: the same seed makes the same ones on every machine. */
import { createRandom } from './random.ts'

export class SeededRandom {
  /** From 0 up to 1, without 1. */
  readonly share: () => number

  constructor(seed: number) {
    const below = createRandom(seed)
    this.share = () => below(2 ** 32) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.share() * limit)
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  chance(share: number): boolean {
    return this.share() < share
  }

  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new Error('there is nothing to pick from')
    return values[this.below(values.length)] as T
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16)).join('')
  }

  uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-7${this.hex(3)}-8${this.hex(3)}-${this.hex(12)}`
  }
}

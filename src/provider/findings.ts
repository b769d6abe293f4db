/** Findings on a manifest, for its author. */

export interface Finding {
  readonly code: string
  /** JSON pointer into the manifest. */
  readonly pointer: string
  readonly message: string
  readonly severity: 'error' | 'warning'
}

export class FindingList {
  readonly list: Finding[] = []

  error(code: string, pointer: string, message: string): void {
    this.list.push({ code, pointer, message, severity: 'error' })
  }

  warn(code: string, pointer: string, message: string): void {
    this.list.push({ code, pointer, message, severity: 'warning' })
  }
}

export const appendStep = (pointer: string, step: unknown): string =>
  `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`

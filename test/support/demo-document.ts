/** The outcomes that docs/demo.md states for subjects and calls of the demo tenant. */
import fs from 'node:fs'
import path from 'node:path'
import { projectRoot } from './database.ts'

interface StatedOutcome {
  readonly external_id: string
  readonly matrix_key: string
  readonly status: number
  readonly band: string | null
  readonly score_bps: number | null
  readonly required_actions: readonly string[]
  readonly reason_codes: readonly string[]
  readonly in_force: string
}

export function readStatedOutcomes(): StatedOutcome[] {
  const page = fs.readFileSync(path.join(projectRoot, 'docs/demo.md'), 'utf8')
  const split = (cell: string) => (cell === '–' ? [] : cell.split(', '))
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `MAGIC-'))
    .map((line) => {
      const [id, matrix, status, band, score, actions, codes, in_force] = line
        .replaceAll('`', '')
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()) as [string, string, string, string, string, string, string, string]
      return {
        external_id: id,
        matrix_key: matrix,
        status: Number(status),
        band: band === '–' ? null : band,
        score_bps: score === '–' ? null : Number(score),
        required_actions: split(actions),
        reason_codes: split(codes),
        in_force,
      }
    })
}

interface StatedCall {
  readonly external_id: string
  readonly operation: string
  readonly asked: string
  readonly status: number
  readonly job: string
  readonly result: string
}

export function readStatedCalls(): StatedCall[] {
  const page = fs.readFileSync(path.join(projectRoot, 'docs/demo.md'), 'utf8')
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `PROVIDER-'))
    .map((line) => {
      const cells = line.replaceAll('`', '').split('|').slice(1, -1)
      const [external_id, operation, asked, status, job, result] = cells.map((cell) => cell.trim()) as [
        string,
        string,
        string,
        string,
        string,
        string,
      ]
      return { external_id, operation, asked, status: Number(status), job, result }
    })
}

const numberWords = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']

/** The numbers of a sentence of docs/demo.md, in figures or in words, where the pattern has its groups. */
export function readStatedNumbers(pattern: RegExp): number[] {
  const page = fs.readFileSync(path.join(projectRoot, 'docs/demo.md'), 'utf8')
  const [, ...numbers] = pattern.exec(page) ?? []
  return numbers.map((text) => (/^\d+$/.test(text) ? Number(text) : numberWords.indexOf(text.toLowerCase()) + 1))
}

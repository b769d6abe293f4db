/**
 * The examples of the OpenAPI document. `npm run docs -- examples` runs the suites that call every operation and provoke every
 * problem, with PROBITY_WRITE_EXAMPLES set: what they saw is written to src/app/examples. Otherwise they compare.
 */
import fs from 'node:fs'
import path from 'node:path'
import type { OperationExample } from '#kernel/openapi.ts'
import { isStreamReply, type Route } from '#kernel/route.ts'
import { projectRoot } from './database.ts'
import { ExampleNormaliser, shortenExample } from './example-normalisation.ts'
import type { Example } from './operation-fixture.ts'
import type { Reply } from './test-app.ts'

const folder = path.join(projectRoot, 'src/app/examples')
export const isRecording = process.env['PROBITY_WRITE_EXAMPLES'] === '1'
export const EXAMPLES_STALE = 'run "npm run docs -- examples" and commit src/app/examples'

type Records = Record<string, object>

export function readExamples(name: string): Records {
  const file = path.join(folder, `${name}.json`)
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
}

/** One line per entry: branches that add operations do not rewrite the others. */
function formatExamples(records: Records): string {
  const lines = Object.entries(records)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, record]) => `${JSON.stringify(name)}: ${JSON.stringify(record)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

/** Collects what a suite saw and, when it writes, updates the file; entries that no longer exist are removed. */
export class ExampleRecorder {
  readonly #records = new Map<string, Records>()
  readonly #stored = new Map<string, Records>()

  /** What the file says, to compare with; when writing, what was just seen. */
  record<T extends object>(file: string, name: string, seen: T): T | undefined {
    if (!isRecording) return this.#readStored(file)[name] as T | undefined
    this.#records.set(file, { ...this.#records.get(file), [name]: seen })
    return seen
  }

  #readStored(file: string): Records {
    const stored = this.#stored.get(file) ?? readExamples(file)
    this.#stored.set(file, stored)
    return stored
  }

  write(existing: (file: string) => readonly string[]): void {
    for (const [file, records] of this.#records) {
      const all = { ...readExamples(file), ...records }
      const names = new Set(existing(file))
      const kept = Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)))
      fs.mkdirSync(folder, { recursive: true })
      fs.writeFileSync(path.join(folder, `${file}.json`), formatExamples(kept))
    }
  }
}

const isText = (reply: Reply): boolean =>
  /^(text\/|application\/(x-ndjson|json))/.test(String(reply.headers['content-type']))

/** The first of a stream of events, as the document describes one. */
function parseEvent(text: string): object {
  const fields = (text.split('\n\n')[0] ?? '').split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2))
  return Object.fromEntries(fields.filter(([name]) => name !== ''))
}

function toReplyValue(route: Route, reply: Reply): unknown {
  const [, schema] = route.reply
  if (schema === null) return undefined
  if (route.id === 'getOpenapi') return { ...reply.json, tags: [], 'x-tagGroups': [], paths: {}, components: {} }
  if (!isStreamReply(schema)) return reply.json
  if (schema.media_types[0] === 'text/event-stream') return parseEvent(reply.text)
  // An archive or a workbook cannot be shown.
  return isText(reply) ? reply.text : undefined
}

export function toOperationExample(route: Route, example: Example, reply: Reply): OperationExample {
  const normaliser = new ExampleNormaliser()
  normaliser.normalise(example.params)
  const body = normaliser.normalise(example.body ?? example.bytes)
  const value = shortenExample(normaliser.normalise(toReplyValue(route, reply)))
  return { ...(body !== undefined && { body }), ...(value !== undefined && { reply: value }) }
}

/** What a problem says beside its catalogue entry. */
export function toProblemExample(body: Readonly<Record<string, unknown>>): object {
  const {
    type: _,
    title: __,
    status: ___,
    code: ____,
    instance: _____,
    request_id: ______,
    retryable: _______,
    ...own
  } = body
  return shortenExample(new ExampleNormaliser().normalise(own)) as object
}

/** What is wrong with a playbook in itself, without what is in force: shape, keys, order of steps, facts and conditions. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { engine1 } from '#decision/engine-1/engine.ts'
import type { TSchema } from '#kernel/schema.ts'
import { describeSchemaFault, omitImplied } from '#kernel/schema-messages.ts'
import type { documentStore } from '#modules/definitions/index.ts'
import { subjectFacts } from './conditions.ts'
import { type Playbook, type PlaybookClock, PlaybookText } from './model.ts'

export type Finding = documentStore.Finding

export const error = (code: string, pointer: string, message: string): Finding => ({
  code,
  pointer,
  message,
  severity: 'error',
})

const MAX_TEXT_BYTES = 256 * 1024
const MAX_SHAPE_FINDINGS = 100

const validators = new Map<TSchema, ValidateFunction>()
/** The schemas are our own, and the meta-schema takes longer to compile than any of them. */
const AJV_OPTIONS = { allErrors: true, strict: false, meta: false, validateSchema: false, verbose: true }

/** Faults by a schema, with the place of each. */
export function checkSchema(schema: TSchema, value: unknown, pointer: string, code: string): Finding[] {
  const validate = validators.get(schema) ?? new Ajv2020(AJV_OPTIONS).compile(schema)
  validators.set(schema, validate)
  if (validate(value)) return []
  const errors = omitImplied(mergeAlternatives(validate.errors ?? []))
  return errors.slice(0, MAX_SHAPE_FINDINGS).map((each) => {
    const [at, message] = describe(each)
    return error(code, `${pointer}${at}`, message)
  })
}

const describe = (error: ErrorObject): readonly [pointer: string, message: string] =>
  error.keyword === 'anyOf'
    ? [error.instancePath, `This must be ${lowerFirst(String(error.parentSchema?.['description']))}.`]
    : describeSchemaFault(error)

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Where none of the alternatives fits, what a described one expects is said instead of the faults by each of them. */
function mergeAlternatives(errors: readonly ErrorObject[]): ErrorObject[] {
  const described = errors.filter(({ keyword, parentSchema }) => keyword === 'anyOf' && parentSchema?.['description'])
  const isPart = ({ schemaPath, instancePath }: ErrorObject): boolean =>
    described.some(
      (whole) => schemaPath.startsWith(`${whole.schemaPath}/`) && instancePath.startsWith(whole.instancePath),
    )
  return errors.filter((each) => (each.keyword === 'anyOf' ? described.includes(each) : !isPart(each)))
}

/** Whether the text has the shape of a playbook; nothing else is checked before it has. */
export function checkShape(text: documentStore.DefinitionText): Finding[] {
  if (Buffer.byteLength(JSON.stringify(text)) > MAX_TEXT_BYTES)
    return [error('playbook_too_large', '', `A playbook has at most ${MAX_TEXT_BYTES / 1024} KiB.`)]
  const { outcomes } = text
  if (!Array.isArray(outcomes)) return checkSchema(PlaybookText, text, '', 'playbook_invalid')
  // A reason code alone is the short form of an outcome.
  const long = outcomes.map((outcome) => (typeof outcome === 'string' ? { code: outcome } : outcome))
  return checkSchema(PlaybookText, { ...text, outcomes: long }, '', 'playbook_invalid')
}

/** Names that stand twice in a list, at their second place. */
const checkUnique = (names: readonly string[], toPointer: (index: number) => string, what: string): Finding[] =>
  names.flatMap((name, index) =>
    names.indexOf(name) < index
      ? [error('key_duplicate', toPointer(index), `Another ${what} is called ${name} already.`)]
      : [],
  )

export function checkKeys({ steps, clocks, outcomes, facts }: Playbook): Finding[] {
  const reserved = facts.flatMap(({ name }, index) =>
    subjectFacts.includes(name)
      ? [error('name_reserved', `/facts/${index}/name`, `Every subject has "${name}": do not declare it.`)]
      : [],
  )
  return [
    ...checkUnique(
      steps.map(({ key }) => key),
      (index) => `/steps/${index}/key`,
      'step',
    ),
    ...checkUnique(
      clocks.map(({ key }) => key),
      (index) => `/clocks/${index}/key`,
      'clock',
    ),
    ...checkUnique(
      outcomes.map(({ code }) => code),
      (index) => `/outcomes/${index}`,
      'outcome',
    ),
    ...reserved,
  ]
}

/** Facts have the form of inputs of a decision: the engine checks them as such. */
export function checkFacts({ facts }: Pick<Playbook, 'facts'>): Finding[] {
  if (facts.length === 0) return []
  const table = { hit_policy: 'first', columns: [], outputs: [], rows: [] }
  const found = engine1.check({ inputs: facts, table, reason_code: 'X', reason: 'x' }, 'rule')
  return found
    .filter(({ pointer }) => pointer === '/inputs' || pointer.startsWith('/inputs/'))
    .map((finding) => ({ ...finding, pointer: finding.pointer.replace('/inputs', '/facts') }))
}

export function checkClocks(clocks: readonly PlaybookClock[]): Finding[] {
  return clocks.flatMap((clock, index): Finding[] => {
    const at = `/clocks/${index}`
    const { hours, days, day_kind, calendar } = clock as Readonly<Record<string, unknown>>
    if ((hours === undefined) === (days === undefined))
      return [error('clock_invalid', at, 'A clock counts either hours or days.')]
    if ((days === undefined) !== (day_kind === undefined))
      return [error('clock_invalid', `${at}/day_kind`, 'day_kind says how days are counted, and requires days.')]
    if (calendar !== undefined && day_kind !== 'business')
      return [error('clock_invalid', `${at}/calendar`, 'Only business days are counted by a calendar.')]
    return []
  })
}

/** Names in `needs` that are no step, and steps that wait for each other. */
export function checkNeeds({ steps, outcomes }: Playbook): Finding[] {
  const keys = new Set(steps.map(({ key }) => key))
  const toUnknown = (needs: readonly string[], pointer: string): Finding[] =>
    needs.flatMap((need, index) =>
      keys.has(need) ? [] : [error('needs_unknown', `${pointer}/needs/${index}`, `There is no step ${need}.`)],
    )
  const unknown = [
    ...steps.flatMap(({ needs }, index) => toUnknown(needs, `/steps/${index}`)),
    ...outcomes.flatMap(({ needs }, index) => toUnknown(needs, `/outcomes/${index}`)),
  ]
  const cycle = findCycle(new Map(steps.map(({ key, needs }) => [key, needs])))
  if (!cycle) return unknown
  const index = steps.findIndex(({ key }) => key === cycle[0])
  const message = `These steps wait for each other: ${cycle.join(' → ')}.`
  return [...unknown, error('needs_cycle', `/steps/${index}/needs`, message)]
}

/** The first cycle in the order of the steps, with its first step repeated at the end; null: there is none. */
export function findCycle(needs: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>()
  const visit = (key: string, path: readonly string[]): string[] | null => {
    const start = path.indexOf(key)
    if (start >= 0) return [...path.slice(start), key]
    if (done.has(key)) return null
    for (const need of needs.get(key) ?? []) {
      const cycle = visit(need, [...path, key])
      if (cycle) return cycle
    }
    done.add(key)
    return null
  }
  for (const key of needs.keys()) {
    const cycle = visit(key, [])
    if (cycle) return cycle
  }
  return null
}

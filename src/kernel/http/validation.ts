/**
 * Validates requests against the declared schemas: strict and closed; nothing is coerced, removed or clamped. Validators are
 * compiled on first use, since compiling hundreds at start takes seconds; a test compiles them all.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Problem, type ProblemError } from '../problem.ts'
import { formatHints, type TSchema } from '../schema.ts'
import { describeLimit } from '../schema-messages.ts'

function createAjv({ useDefaults }: { useDefaults: boolean }): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    useDefaults,
    removeAdditional: false,
    coerceTypes: false,
    allowUnionTypes: true,
    ownProperties: true,
    unicodeRegExp: true,
    // Schemas of routes are checked against the meta-schema by a test; compiling it here takes longer than any of them.
    meta: false,
    validateSchema: false,
    // Doubles the time to compile; the engine makes the validators as fast without it.
    code: { optimize: false },
  })
  addFormats.default(ajv)
  return ajv
}

/**
 * Two sets of validators: a schema may be used in a request, where defaults are filled in, and in a reply, where they are not.
 */
function createCompiler(ajv: Ajv2020): (schema: TSchema) => ValidateFunction {
  const compiled = new WeakMap<object, ValidateFunction>()
  return (schema) => {
    let check = compiled.get(schema)
    if (!check) {
      check = ajv.compile(schema)
      compiled.set(schema, check)
    }
    return check
  }
}

export const inputValidator = createCompiler(createAjv({ useDefaults: true }))
export const replyValidator = createCompiler(createAjv({ useDefaults: false }))

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function toProblemError(part: ProblemError['in'], error: ErrorObject): ProblemError {
  let path = error.instancePath
  let detail = error.message ?? 'is not valid'
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params['additionalProperty'])
    path += `/${escapePointer(name.slice(0, 100))}`
    detail = 'is not a known member here'
  } else if (error.keyword === 'required') {
    path += `/${escapePointer(String(error.params['missingProperty']))}`
    detail = 'is required'
  } else if (error.keyword === 'enum') {
    detail = `must be one of ${(error.params['allowedValues'] as unknown[]).filter((v) => v !== null).join(', ')}`
  } else if (error.keyword === 'format') {
    detail = formatHints.get(String(error.params['format'])) ?? detail
  } else {
    detail = describeLimit(error) ?? detail
  }
  return { in: part, pointer: `#${path}`, detail, keyword: error.keyword, instancePath: path }
}

const MAX_ERRORS = 50

/** Every fault of one part of a request; fills in declared defaults. */
export function findSchemaErrors(part: ProblemError['in'], schema: TSchema, value: unknown): ProblemError[] {
  const check = inputValidator(schema)
  if (check(value)) return []
  return (check.errors ?? []).slice(0, MAX_ERRORS).map((error) => toProblemError(part, error))
}

const freeFormCache = new WeakMap<object, boolean>()

/** Whether a schema leaves part of the value open. Only there can a text be that no pattern has checked. */
export function hasFreeFormParts(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const known = freeFormCache.get(schema)
  if (known !== undefined) return known
  const { type, properties, additionalProperties } = schema as Record<string, unknown>
  const free =
    [type].flat().includes('object') && additionalProperties !== false && typeof additionalProperties !== 'object'
  const nested = [Object.values((properties as object | undefined) ?? {}), (schema as { items?: unknown }).items].flat()
  const open = free || Object.keys(schema).every((name) => name === 'description') || nested.some(hasFreeFormParts)
  freeFormCache.set(schema, open)
  return open
}

/** PostgreSQL cannot store U+0000, and open parts of a body have no pattern that refuses it. */
export function findUnstorableText(schema: TSchema, body: unknown): ProblemError[] {
  if (!hasFreeFormParts(schema)) return []
  const faults: ProblemError[] = []
  const visit = (value: unknown, path: string): void => {
    const refuse = () => faults.push({ in: 'body', pointer: `#${path}`, detail: 'may not hold U+0000' })
    if (typeof value === 'string' && value.includes('\u0000')) refuse()
    if (typeof value !== 'object' || value === null || faults.length >= MAX_ERRORS) return
    for (const [name, part] of Object.entries(value)) {
      if (name.includes('\u0000')) refuse()
      else visit(part, `${path}/${escapePointer(name)}`)
    }
  }
  visit(body, '')
  return faults
}

/** Whether a pointer lies in an open part of the schema. Unknown members are not open, but wrong. */
export function isFreeFormAt(schema: TSchema, pointer: string): boolean {
  let part = schema as unknown as Record<string, unknown> | undefined
  for (const step of pointer.replace(/^#\/?/, '').split('/')) {
    if (part === undefined) return false
    const { type, properties, additionalProperties, items } = part as {
      type?: unknown
      properties?: Record<string, Record<string, unknown>>
      additionalProperties?: unknown
      items?: Record<string, unknown>
    }
    // Alternatives are declared: the value is not open.
    if (type === undefined) return !('anyOf' in part) && !('oneOf' in part) && !('enum' in part) && !('const' in part)
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if ([type].flat().includes('array') && items) part = items
    else if (properties && Object.hasOwn(properties, name)) part = properties[name]
    else if (typeof additionalProperties === 'object') part = additionalProperties as Record<string, unknown>
    else return [type].flat().includes('object') && additionalProperties !== false
  }
  return part !== undefined && hasFreeFormParts(part)
}

export function failValidation(faults: readonly ProblemError[]): never {
  const [first] = faults
  // One field may have several faults.
  const fields = new Set(faults.map(({ in: part, pointer }) => `${part} ${pointer}`)).size
  // A format and its pattern give the same hint.
  const details = new Set(faults.map(({ detail }) => detail))
  throw new Problem('validation_failed', {
    detail:
      fields === 1
        ? `1 field is invalid: ${first?.pointer === '#' ? `the ${first.in}` : first?.pointer} ${[...details].join(', ')}.`
        : `${fields}${faults.length < MAX_ERRORS ? '' : ' or more'} fields are invalid.`,
    errors: faults.slice(0, MAX_ERRORS),
  })
}

/** What is wrong with a value, without filling in defaults, or null. */
export function describeSchemaErrors(schema: TSchema, value: unknown): string | null {
  const check = replyValidator(schema)
  if (check(value)) return null
  const faults = (check.errors ?? []).map((error) => toProblemError('body', error))
  return faults.map(({ instancePath, detail }) => `${instancePath || 'the value'} ${detail}`).join(', ')
}

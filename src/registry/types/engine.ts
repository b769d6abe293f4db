/**
 * The JSON Schema validator of dataset types: Ajv for 2020-12 as strict as it goes, own members only, patterns in linear
 * time. One instance per schema, so that nothing of one tenant's type stays behind in another's.
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isObject } from '../content/pointer.ts'
import { compilePattern } from './pattern.ts'

export type { ErrorObject, ValidateFunction }

/** The formats that are checked; any other is refused, since it would be ignored. */
export const FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
  'json-pointer',
  'relative-json-pointer',
  'regex',
]

/** Decimal fractions are not exact: 19.99 is a multiple of 0.01 although the quotient is 1998.9999999999998. */
const MULTIPLE_OF_DIGITS = 6
/** Larger shared definitions become functions instead of being repeated at each reference. */
const MAX_INLINED_KEYWORDS = 20

const metaSchema = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false })

/** Errors against the meta-schema: keywords with values they cannot have. */
export function metaErrors(schema: unknown): ErrorObject[] {
  if (typeof schema === 'boolean') return []
  return metaSchema.validateSchema(schema as object) ? [] : [...(metaSchema.errors ?? [])]
}

/** Throws when Ajv refuses the schema; the caller has checked its limits. */
export function compileSchema(schema: unknown): ValidateFunction {
  const ajv = new Ajv2020({
    strict: true,
    // A schema may leave a type open or list fewer positions than items: correct, only unusual.
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowMatchingProperties: true,
    allErrors: true,
    ownProperties: true,
    unicodeRegExp: true,
    multipleOfPrecision: MULTIPLE_OF_DIGITS,
    inlineRefs: MAX_INLINED_KEYWORDS,
    // Ajv resolves anchors, but its strict mode does not know the word.
    keywords: ['$anchor'],
    meta: false,
    validateSchema: false,
    logger: false,
    code: { regExp: Object.assign((pattern: string) => compilePattern(pattern), { code: 'new RegExp' }) },
  })
  // The published package exports its function under `default` when imported from an ES module.
  ;(addFormats as unknown as { default: (ajv: Ajv2020, formats: string[]) => void }).default(ajv, FORMATS)
  return ajv.compile(withoutIdentity(schema))
}

/** References are local, so the schema needs neither its own address nor its dialect's. */
function withoutIdentity(schema: unknown): object | boolean {
  if (!isObject(schema)) return schema as boolean
  const { $id, $schema, ...rest } = schema
  return rest
}

/** Checks the input of a call against the schema of its capability. */
import type { InputProperty, InputSchema, ProviderInput } from './manifest.ts'

export interface InputFault {
  /** JSON pointer into the input. */
  readonly pointer: string
  readonly keyword: string
  /** Without the value, which may be personal. */
  readonly message: string
}

const DEFAULT_MAX_LENGTH = 1000
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/

export function checkInput({ properties, required = [] }: InputSchema, input: unknown): InputFault[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return [{ pointer: '', keyword: 'type', message: 'must be an object' }]
  }
  const given = input as ProviderInput
  const absent = required.filter((name) => !Object.hasOwn(given, name))
  return [
    ...absent.map((name) => ({ pointer: toPointer(name), keyword: 'required', message: 'is required' })),
    ...Object.entries(given).flatMap(([name, value]): InputFault[] => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (!property) {
        return [
          { pointer: toPointer(name), keyword: 'additionalProperties', message: 'is not an input of this capability' },
        ]
      }
      const fault = findValueFault(property, value)
      return fault ? [{ pointer: toPointer(name), ...fault }] : []
    }),
  ]
}

type ValueFault = Pick<InputFault, 'keyword' | 'message'>

function findValueFault(property: InputProperty, value: unknown): ValueFault | null {
  if (!hasType(property, value)) return { keyword: 'type', message: `must be of type ${property.type}` }
  if (property.enum && !property.enum.includes(value as string)) {
    return { keyword: 'enum', message: 'must be one of the listed values' }
  }
  if (typeof value === 'string') return findTextFault(property, value)
  if (typeof value === 'number') return findNumberFault(property, value)
  return null
}

function hasType({ type }: InputProperty, value: unknown): boolean {
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'number') return Number.isFinite(value)
  return typeof value === type
}

function findTextFault(property: InputProperty, value: string): ValueFault | null {
  const { minLength = 0, maxLength = DEFAULT_MAX_LENGTH, format } = property
  const length = [...value].length
  if (length < minLength) return { keyword: 'minLength', message: `must have at least ${minLength} characters` }
  if (length > maxLength) return { keyword: 'maxLength', message: `must have at most ${maxLength} characters` }
  if (/[\p{Cs}\0]/u.test(value)) return { keyword: 'type', message: 'must be well-formed text without U+0000' }
  if (format === 'date' && !isDate(value)) return { keyword: 'format', message: 'must be a date such as 2026-01-31' }
  return null
}

function findNumberFault({ minimum, maximum }: InputProperty, value: number): ValueFault | null {
  if (minimum !== undefined && value < minimum) return { keyword: 'minimum', message: `must be at least ${minimum}` }
  if (maximum !== undefined && value > maximum) return { keyword: 'maximum', message: `must be at most ${maximum}` }
  return null
}

const isDate = (text: string): boolean =>
  DATE.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)

const toPointer = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The options of an adapter as a form built from its JSON Schema. Structured options are edited as JSON. */
import { JsonInput, MultiSelect, NumberInput, Select, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import { toSentence } from '#console/ui/format.ts'

export type Options = Readonly<Record<string, unknown>>

interface OptionSchema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: { readonly enum?: readonly string[] }
  readonly default?: unknown
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}
const simpleTypes = ['string', 'integer', 'number', 'boolean']
const isSimple = ({ type, items }: OptionSchema = {}): boolean =>
  simpleTypes.includes(type ?? '') || (type === 'array' && items?.enum !== undefined)

interface AdapterOptionsProps {
  readonly schema: Readonly<Record<string, unknown>>
  readonly value: Options
  /** The structured options as JSON text. */
  readonly rich: string
  readonly onChange: (value: Options) => void
  readonly onRich: (text: string) => void
}

export function AdapterOptions({ schema, value, rich, onChange, onRich }: AdapterOptionsProps) {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, OptionSchema>>
    required?: readonly string[]
  }
  const names = Object.keys(properties)
  const plain = names.filter((name) => isSimple(properties[name]))
  const others = names.filter((name) => !plain.includes(name))
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value
    onChange(next === undefined || next === '' || next === null ? rest : { ...rest, [name]: next })
  }
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
        {plain.map((name) => (
          <OptionField
            key={name}
            name={name}
            schema={properties[name] ?? {}}
            isRequired={required.includes(name)}
            value={value[name]}
            onChange={(next) => set(name, next)}
          />
        ))}
      </SimpleGrid>
      {others.length > 0 && (
        <>
          <JsonInput
            label="Further options as JSON"
            description={`An object with any of: ${others.join(', ')}. Not needed if the file uses the field names of the type.`}
            autosize
            minRows={2}
            maxRows={14}
            validationError="This is not valid JSON."
            formatOnBlur
            value={rich}
            onChange={onRich}
          />
          {others.map((name) => (
            <Text key={name} size="xs" c="dimmed">
              <b>{name}</b>: {properties[name]?.description}
            </Text>
          ))}
        </>
      )}
    </Stack>
  )
}

interface OptionFieldProps {
  readonly name: string
  readonly schema: OptionSchema
  readonly isRequired: boolean
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

function OptionField({ name, schema, isRequired, value, onChange }: OptionFieldProps) {
  const shared = { label: toSentence(name), description: schema.description, required: isRequired, size: 'xs' as const }
  const otherwise = schema.default === undefined ? undefined : JSON.stringify(schema.default).replaceAll('"', '')
  if (schema.type === 'boolean') {
    return (
      <Switch
        {...shared}
        checked={typeof value === 'boolean' ? value : schema.default === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    )
  }
  if (schema.type === 'array') {
    return (
      <MultiSelect
        {...shared}
        value={Array.isArray(value) ? (value as string[]) : []}
        data={[...(schema.items?.enum ?? [])]}
        onChange={(next) => onChange(next.length === 0 ? undefined : next)}
      />
    )
  }
  if (schema.enum) {
    return (
      <Select
        {...shared}
        placeholder={otherwise}
        clearable
        value={typeof value === 'string' ? value : null}
        data={schema.enum.map((one) => ({ value: one, label: one === '\t' ? 'tab' : one }))}
        onChange={onChange}
      />
    )
  }
  if (schema.type === 'string') {
    return (
      <TextInput
        {...shared}
        placeholder={otherwise}
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  return (
    <NumberInput
      {...shared}
      placeholder={otherwise}
      allowDecimal={schema.type === 'number'}
      value={typeof value === 'number' ? value : ''}
      onChange={(next) => onChange(typeof next === 'number' ? next : undefined)}
      {...(schema.minimum !== undefined && { min: schema.minimum })}
      {...(schema.maximum !== undefined && { max: schema.maximum })}
    />
  )
}

/** Both parts as one object; null while the JSON text is not an object. */
export function mergeOptions(plain: Options, rich: string): Options | null {
  if (rich.trim() === '') return plain
  try {
    const more: unknown = JSON.parse(rich)
    return typeof more === 'object' && more !== null && !Array.isArray(more) ? { ...plain, ...more } : null
  } catch {
    return null
  }
}

/** The two parts that the form shows of an object of options. */
export function splitOptions(schema: Readonly<Record<string, unknown>>, options: Options) {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, OptionSchema>> }
  const entries = Object.entries(options)
  const others = entries.filter(([name]) => !isSimple(properties[name]))
  return {
    plain: Object.fromEntries(entries.filter(([name]) => isSimple(properties[name]))),
    rich: others.length === 0 ? '' : JSON.stringify(Object.fromEntries(others), null, 2),
  }
}

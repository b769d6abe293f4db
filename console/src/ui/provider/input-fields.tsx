/** A form built from the declared input of a capability, with errors at their field. */
import { NumberInput, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { toSentence } from '../format.ts'
import type { InputProperty, InputSchema } from './manifest.ts'

export type CallInput = Readonly<Record<string, unknown>>

interface InputFieldsProps {
  readonly schema: InputSchema
  readonly value: CallInput
  readonly onChange: (value: CallInput) => void
  /** Errors by the name of the member. */
  readonly faults?: Readonly<Record<string, string>>
  /** Values that are used where nothing is given, such as attributes of the subject. */
  readonly known?: CallInput
}

export function InputFields({ schema, value, onChange, faults = {}, known = {} }: InputFieldsProps) {
  const names = Object.keys(schema.properties)
  if (names.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        This capability takes no input.
      </Text>
    )
  }
  return (
    <Stack gap="sm">
      {names.map((name) => (
        <InputMember
          key={name}
          name={name}
          of={schema.properties[name] as InputProperty}
          isRequired={schema.required.includes(name) && known[name] === undefined}
          known={known[name]}
          value={value[name]}
          error={faults[name]}
          onChange={(typed) => {
            const { [name]: _, ...rest } = value
            onChange(typed === undefined || typed === '' ? rest : { ...rest, [name]: typed })
          }}
        />
      ))}
    </Stack>
  )
}

interface InputMemberProps {
  readonly name: string
  readonly of: InputProperty
  readonly isRequired: boolean
  readonly known: unknown
  readonly value: unknown
  readonly error: string | undefined
  readonly onChange: (value: unknown) => void
}

function InputMember({ name, of, isRequired, known, value, error, onChange }: InputMemberProps) {
  const label = of.title ?? toSentence(name)
  const field = {
    label,
    withAsterisk: isRequired,
    ...(of.description !== undefined && { description: of.description }),
    ...(known !== undefined && { placeholder: `${String(known)} (from the subject)` }),
    ...(error !== undefined && { error }),
  }
  if (of.enum) {
    const choices = of.enum
    return (
      <Select
        {...field}
        clearable
        data={choices.map(String)}
        value={value === undefined ? null : String(value)}
        onChange={(chosen) => onChange(choices.find((one) => String(one) === chosen))}
      />
    )
  }
  if (of.type === 'boolean') {
    return (
      <div>
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={label}
          value={value === undefined ? 'none' : value === true ? 'yes' : 'no'}
          onChange={(chosen) => onChange(chosen === 'none' ? undefined : chosen === 'yes')}
          data={[
            { value: 'none', label: 'not given' },
            { value: 'yes', label: 'yes' },
            { value: 'no', label: 'no' },
          ]}
        />
      </div>
    )
  }
  if (of.type === 'integer' || of.type === 'number') {
    return (
      <NumberInput
        {...field}
        allowDecimal={of.type === 'number'}
        {...(of.minimum !== undefined && { min: of.minimum })}
        {...(of.maximum !== undefined && { max: of.maximum })}
        value={typeof value === 'number' ? value : ''}
        onChange={(typed) => onChange(typeof typed === 'number' ? typed : undefined)}
      />
    )
  }
  return (
    <TextInput
      {...field}
      type={of.format === 'date' ? 'date' : 'text'}
      autoComplete="off"
      maxLength={of.maxLength ?? 1000}
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

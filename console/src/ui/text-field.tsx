/** Fields of a form whose value is a text: a line, and a time in the zone of the browser. */
import { TextInput } from '@mantine/core'

interface FieldProps {
  readonly label: string
  readonly description?: string
  readonly isRequired?: boolean
  /** Has the focus when its dialog opens. */
  readonly isFirst?: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}

const toProps = ({ label, description, isRequired = false, isFirst = false, value, onChange }: FieldProps) => ({
  label,
  required: isRequired,
  value,
  onChange: (event: { readonly currentTarget: HTMLInputElement }) => onChange(event.currentTarget.value),
  ...(description !== undefined && { description }),
  ...(isFirst && { 'data-autofocus': true }),
})

export const TextField = ({ max, ...field }: FieldProps & { readonly max: number }) => (
  <TextInput {...toProps(field)} maxLength={max} />
)

export const TimeField = (field: FieldProps) => <TextInput {...toProps(field)} type="datetime-local" />

/** A required reason that is stored with the change. */
import { Textarea } from '@mantine/core'

interface ReasonFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly label?: string
  readonly isRequired?: boolean
  /** Whether the field has the initial focus. */
  readonly isFirst?: boolean
}

export function ReasonField({
  value,
  onChange,
  label = 'Reason',
  isRequired = true,
  isFirst = false,
}: ReasonFieldProps) {
  return (
    <Textarea
      label={label}
      required={isRequired}
      autosize
      minRows={2}
      maxLength={2000}
      {...(isFirst && { 'data-autofocus': true })}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** Fields that a task and an added step have in common. */
import { Checkbox, Textarea } from '@mantine/core'

const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export const ChecklistField = ({ onChange }: { readonly onChange: (items: string[]) => void }) => (
  <Textarea
    label="Checklist"
    description="One item per line. Each is confirmed before the task is done."
    autosize
    minRows={2}
    onChange={(event) => onChange(toLines(event.currentTarget.value))}
  />
)

interface RequiredFieldProps {
  readonly isRequired: boolean
  readonly onChange: (isRequired: boolean) => void
}

export const RequiredField = ({ isRequired, onChange }: RequiredFieldProps) => (
  <Checkbox
    label="No outcome can be proposed before it is done"
    checked={isRequired}
    onChange={(event) => onChange(event.currentTarget.checked)}
  />
)

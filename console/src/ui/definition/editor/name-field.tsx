/**
 * A field for a name that is referenced elsewhere. It is applied on blur, so that intermediate text never equals
 * another name.
 */
import { TextInput } from '@mantine/core'
import { useState } from 'react'

interface NameFieldProps {
  readonly label: string
  readonly description?: string
  readonly value: string
  readonly error?: string | undefined
  readonly onRename: (name: string) => void
}

export function NameField({ label, description, value, error, onRename }: NameFieldProps) {
  const [typed, setTyped] = useState<string | null>(null)
  function take() {
    if (typed !== null && typed !== value) onRename(typed.trim())
    setTyped(null)
  }
  return (
    <TextInput
      label={label}
      {...(description !== undefined && { description })}
      classNames={{ input: 'mono' }}
      spellCheck={false}
      autoComplete="off"
      value={typed ?? value}
      error={error}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && take()}
    />
  )
}

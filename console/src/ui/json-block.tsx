/** A JSON value, indented. Characters that cannot be seen are written as escapes. */
import { Code } from '@mantine/core'
import { formatJson } from './tool/escape-text.ts'

export function JsonBlock({ value, name }: { readonly value: unknown; readonly name: string }) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <Code block className="json" tabIndex={0} role="region" aria-label={name}>
      {formatJson(value)}
    </Code>
  )
}

/** A JSON value, indented. */
import { Code } from '@mantine/core'

export function JsonBlock({ value, name }: { readonly value: unknown; readonly name: string }) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <Code block className="json" tabIndex={0} role="region" aria-label={name}>
      {JSON.stringify(value, null, 2)}
    </Code>
  )
}

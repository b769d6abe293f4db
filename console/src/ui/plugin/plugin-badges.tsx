/** Whether a plugin or one of its versions can run. Colour only repeats the text. */
import { Badge } from '@mantine/core'
import type { Plugin } from './plugin-texts.ts'

type PluginState = Pick<Plugin, 'runs' | 'active' | 'disabled'>

const describeState = ({ runs, active, disabled }: PluginState): readonly [color: string, words: string] => {
  if (runs) return ['teal', 'runs']
  if (disabled) return ['red', 'disabled']
  return active === null ? ['gray', 'not in force'] : ['red', 'cannot run']
}

export function PluginStateBadge({ of }: { readonly of: PluginState }) {
  const [color, words] = describeState(of)
  return (
    <Badge variant="light" color={color} tt="none" miw="max-content">
      {words}
    </Badge>
  )
}

export function RunsBadge({ runs }: { readonly runs: boolean }) {
  return (
    <Badge variant="light" color={runs ? 'teal' : 'red'} tt="none" miw="max-content">
      {runs ? 'can run' : 'cannot run'}
    </Badge>
  )
}

/** A value with a copy button: an id, a hash, a secret. */
import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core'
import { Icon } from './icons.tsx'

interface CopyValueProps {
  readonly value: string
  /** The name of the value, for the button label: "Copy the request id". */
  readonly name: string
  readonly isBlock?: boolean
}

export function CopyValue({ value, name, isBlock = false }: CopyValueProps) {
  return (
    <Group gap={4} wrap="nowrap" align="center" display={isBlock ? 'flex' : 'inline-flex'} maw="100%">
      <Code className="copy-value" block={isBlock} flex={isBlock ? 1 : undefined}>
        {value}
      </Code>
      <CopyButton value={value} timeout={2000}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : `Copy ${name}`}>
            <ActionIcon
              variant="subtle"
              color={copied ? 'teal' : 'gray'}
              size={isBlock ? 'lg' : 'sm'}
              onClick={copy}
              aria-label={copied ? 'Copied' : `Copy ${name}`}
            >
              <Icon name={copied ? 'check' : 'copy'} size={isBlock ? 18 : 14} />
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  )
}

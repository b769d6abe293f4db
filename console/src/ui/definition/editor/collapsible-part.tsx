/** One of several like parts of a draft: a line that says it in short, and its fields when opened. A fault opens it. */
import { ActionIcon, Badge, Group, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { toAnchorId } from './anchor.ts'

interface CollapsiblePartProps {
  /** What it is called in the names of its buttons. */
  readonly name: string
  readonly title: string
  readonly about: ReactNode
  readonly pointer: string
  readonly isFaulty: boolean
  /** One just made is open already. */
  readonly isNew?: boolean
  /** Null where it stands first or last. */
  readonly onUp: (() => void) | null
  readonly onDown: (() => void) | null
  readonly onRemove: () => void
  readonly children: () => ReactNode
}

export function CollapsiblePart(props: CollapsiblePartProps) {
  const { name, title, about, pointer, isFaulty, isNew = false, onUp, onDown, onRemove, children } = props
  const [isOpen, setOpen] = useState(isNew || isFaulty)
  useEffect(() => {
    if (isFaulty) setOpen(true)
  }, [isFaulty])
  return (
    <div className="folded" id={toAnchorId(pointer)} tabIndex={-1}>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{title}</b>
          <Text span size="xs" c="dimmed">
            {about}
          </Text>
          {isFaulty && (
            <Badge color="red" variant="light" tt="none">
              fault
            </Badge>
          )}
        </summary>
        {/* Its fields are many: they are drawn for what is open. */}
        {isOpen && <div className="folded-body">{children()}</div>}
      </details>
      <Group gap={2} className="folded-order" wrap="nowrap">
        <OrderButton label={`Move ${name} up`} onClick={onUp}>
          ↑
        </OrderButton>
        <OrderButton label={`Move ${name} down`} onClick={onDown}>
          ↓
        </OrderButton>
        <OrderButton label={`Remove ${name}`} onClick={onRemove}>
          ×
        </OrderButton>
      </Group>
    </div>
  )
}

interface OrderButtonProps {
  readonly label: string
  readonly onClick: (() => void) | null
  readonly children: string
}

export function OrderButton({ label, onClick, children }: OrderButtonProps) {
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-label={label}
      title={label}
      disabled={onClick === null}
      onClick={() => onClick?.()}
    >
      {children}
    </ActionIcon>
  )
}

/** Links between pages that keep the document loaded, in the clothes of the design system. */
import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Only the page itself is marked as the present one, not those below it. */
const exactly = { exact: true }

interface To {
  readonly to: string
  readonly children: ReactNode
}

export function PageLink({ to, children, ...style }: To & AnchorProps) {
  return (
    <Anchor component={Link} to={to} activeOptions={exactly} {...style}>
      {children}
    </Anchor>
  )
}

export function ButtonLink({ to, children, ...style }: To & ButtonProps) {
  return (
    <Button component={Link} to={to} activeOptions={exactly} {...style}>
      {children}
    </Button>
  )
}

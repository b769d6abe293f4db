/** Links between pages that keep the document loaded, in the clothes of the design system. */
import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Only the page itself is marked as the present one, not those below it. */
const exactMatch = { exact: true }

interface LinkTarget {
  readonly to: string
  readonly children: ReactNode
}

export function PageLink({ to, children, ...style }: LinkTarget & AnchorProps) {
  return (
    <Anchor component={Link} to={to} activeOptions={exactMatch} {...style}>
      {children}
    </Anchor>
  )
}

export function ButtonLink({ to, children, ...style }: LinkTarget & ButtonProps) {
  return (
    <Button component={Link} to={to} activeOptions={exactMatch} {...style}>
      {children}
    </Button>
  )
}

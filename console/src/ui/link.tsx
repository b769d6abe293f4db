/** Links between pages of the console, styled by Mantine. */
import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Only an exact match is marked as the current page. */
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

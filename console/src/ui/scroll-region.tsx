/** A part that scrolls sideways on a narrow screen, reachable by keyboard. */
import { Box } from '@mantine/core'
import type { ReactNode } from 'react'

interface ScrollRegionProps {
  readonly label: string
  readonly className?: string
  readonly children: ReactNode
}

export function ScrollRegion({ label, className = '', children }: ScrollRegionProps) {
  return (
    <Box className={`scroll-x ${className}`.trim()} tabIndex={0} role="region" aria-label={label}>
      {children}
    </Box>
  )
}

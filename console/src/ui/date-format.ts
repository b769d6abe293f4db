/** Dates and times as text: one style for the whole console, that of the reports. Pure. */

const LOCALE = 'en-GB'

const day = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' })
const minute = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })
const second = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' })
const time = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short' })
const utcDay = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' })
const shortDay = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const shortMonth = new Intl.DateTimeFormat(LOCALE, { month: 'short', year: 'numeric', timeZone: 'UTC' })
const utcTime = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short', timeZone: 'UTC' })

/** `18 Nov 2026` */
export const formatDay = (at: string | number | Date): string => day.format(new Date(at))
/** `18 Nov 2026, 05:55` */
export const formatDateTime = (at: string | number | Date): string => minute.format(new Date(at))
/** `18 Nov 2026, 05:55:40`, for events that follow each other within a minute. */
export const formatExactTime = (at: string | number | Date): string => second.format(new Date(at))
/** `05:55` */
export const formatTime = (at: string | number | Date): string => time.format(new Date(at))
/** `18 Nov 2026`, of a date without a time such as 2026-11-18. */
export const formatUtcDay = (date: string): string => utcDay.format(new Date(date))
/** `18 Nov`, for the axis of a chart that counts days in UTC. */
export const formatChartDay = (at: string | number): string => shortDay.format(new Date(at))
/** `Nov 2026`, the same for months. */
export const formatChartMonth = (at: string | number): string => shortMonth.format(new Date(at))
/** `05:55`, the same for hours. */
export const formatChartTime = (at: string | number): string => utcTime.format(new Date(at))

/** States, formats and parts of reports. */

export const reportStates = ['collecting', 'rendering', 'ready', 'failed', 'deleted', 'erased'] as const
export type ReportState = (typeof reportStates)[number]
export const reportFormats = ['json', 'html', 'csv', 'pdf'] as const
export type ReportFormatName = (typeof reportFormats)[number]
export type ReportPart = ReportFormatName | 'snapshot'

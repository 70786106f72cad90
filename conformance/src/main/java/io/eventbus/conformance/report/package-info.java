/** What a run found, for people and for other programs. */
package io.eventbus.conformance.report;

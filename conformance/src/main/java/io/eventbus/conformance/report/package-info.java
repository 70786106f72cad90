/** Reports of a run, for people and for other programs. */
package io.eventbus.conformance.report;

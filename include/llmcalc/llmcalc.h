/* llmcalc for other languages: strings in, JSON out. No exception crosses this interface, and every function may be
 * called from several threads at once. */
#ifndef LLMCALC_H
#define LLMCALC_H

#ifdef __cplusplus
extern "C" {
#endif

/* What llmcalc_fit returns: the exit codes of the command line. */
enum {
  LLMCALC_FITS = 0, /* also without an accelerator: then the answer has no verdict */
  LLMCALC_DOES_NOT_FIT = 1,
  LLMCALC_NOT_ANSWERED = 2 /* the answer says what is wrong with the question */
};

/* Answers as `llmcalc fit --format json` does.
 * question: a JSON object of options without their dashes: {"model": "llama-3-8b", "gpu": "h100-sxm:8", "zero": 3}.
 * answer:   set to a text that llmcalc_free takes back: the JSON of docs/json.md, of kind "error" where the question
 *           could not be answered; set to NULL only where memory ran out. */
int llmcalc_fit(const char* question, char** answer);

/* Takes back what llmcalc_fit gave; NULL is allowed. */
void llmcalc_free(char* answer);

/* "0.1.0"; never to be freed. */
const char* llmcalc_version(void);

#ifdef __cplusplus
}
#endif

#endif
